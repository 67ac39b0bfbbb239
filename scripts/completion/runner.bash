# Completion of runner's command line in bash; bash-completion finds it where it is installed. In zsh
# without the installed _runner: autoload -U bashcompinit && bashcompinit && source this file.
# What there is to complete the program says itself.
_runner() {
  local line=${COMP_LINE:0:COMP_POINT}
  local program=${COMP_WORDS[0]/#\~/$HOME}
  # A space in the program's name was typed as "\ ".
  mapfile -t COMPREPLY < <("${program//\\/}" --complete "$line" 2> /dev/null)
  # For readline a word begins after a colon or an equals sign.
  local word=${line##* }
  local before=${word%"${word##*[:=]}"}
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  case ${COMPREPLY[0]} in
    *[:=/]) compopt -o nospace 2> /dev/null ;;
  esac
}
complete -o default -F _runner runner
