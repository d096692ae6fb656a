# Writes what a shell and man(1) need of the command into FOLDER, as it lies below a prefix such as /usr: pages of the
# manual, and completion for bash, zsh and fish.
# Usage: cmake -D command=FILE -D folder=FOLDER -P SpikeweaveShellFiles.cmake
cmake_minimum_required(VERSION 3.25)

# write(FILE WORD...): writes what the command prints for these words.
function(write file)
  execute_process(COMMAND ${command} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${folder}/${file} "${text}")
endfunction()

execute_process(COMMAND ${command} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "^.*\nSubcommands:\n" "" help "${help}")
string(REGEX MATCHALL "\n  [a-z]+" names "\n${help}")
write(share/man/man1/spikeweave.1 manual)
foreach(name IN LISTS names)
  string(STRIP "${name}" name)
  write(share/man/man1/spikeweave-${name}.1 manual ${name})
endforeach()
write(share/bash-completion/completions/spikeweave completion --shell bash)
# The first folder is zsh's own default, the second one that of Debian.
foreach(functions IN ITEMS site-functions vendor-completions)
  write(share/zsh/${functions}/_spikeweave completion --shell zsh)
endforeach()
write(share/fish/vendor_completions.d/spikeweave.fish completion --shell fish)
