# Completion of runner's command line in fish. What there is to complete the program says itself.
complete -c runner -a '(runner --complete (commandline -cp) 2> /dev/null)'
