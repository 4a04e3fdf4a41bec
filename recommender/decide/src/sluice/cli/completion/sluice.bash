# Completion of sluice for bash (4.4 or later). The program itself says what fits, a line each: TYPE,VALUE.
_sluice_completion() {
    local program=${1/#\~\//$HOME/} type value
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            plain) COMPREPLY+=("$value") ;;
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
        esac
    done < <(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" _SLUICE_COMPLETE=bash_complete "$program" 2> /dev/null)
}
complete -o nosort -F _sluice_completion sluice
