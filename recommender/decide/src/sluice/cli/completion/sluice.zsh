#compdef sluice
# Completion of sluice for zsh. The program itself says what fits, in three lines each: type, value, description.
_sluice_completion() {
    local -a answer described plain
    local program=${~words[1]} type value description
    answer=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT - 1)) _SLUICE_COMPLETE=zsh_complete $program 2> /dev/null)}")
    for type value description in "${answer[@]}"; do
        case $type in
            plain)
                if [[ $description == _ ]]; then
                    plain+=("$value")
                else
                    described+=("$value:$description")
                fi
                ;;
            dir) _path_files -/ ;;
            file) _path_files -f ;;
        esac
    done
    (( $#described )) && _describe -V unsorted described -U
    (( $#plain )) && compadd -U -V unsorted -a plain
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _sluice_completion "$@"
else
    compdef _sluice_completion sluice
fi
