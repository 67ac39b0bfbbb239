# Completion of runner's command line in fish. What there is to complete the program says itself;
# where it says nothing, any file may follow.
function __runner_words
    runner --complete (commandline -cp) 2> /dev/null
end
complete -c runner -n 'count (__runner_words) > /dev/null' -f -a '(__runner_words)'
