# Completion of sluice for fish. The program itself says what fits, a line each: TYPE,VALUE and a tab before its description.
function __sluice_completion
    set -l program (string replace -r '^~/' "$HOME/" -- (commandline -opc)[1])
    for line in (env COMP_WORDS=(commandline -cp | string collect) COMP_CWORD=(commandline -ct | string collect) _SLUICE_COMPLETE=fish_complete $program 2> /dev/null)
        set -l parts (string split -m 1 , -- $line)
        switch $parts[1]
            case plain
                echo $parts[2]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
        end
    end
end
complete --command sluice --no-files --arguments '(__sluice_completion)'
