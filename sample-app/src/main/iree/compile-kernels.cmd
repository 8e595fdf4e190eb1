@rem Writes an empty file for each architecture, since compilers of Windows link no ELF files: the program falls back to its VM bytecode kernels.
@rem usage: compile-kernels OUTPUT_DIRECTORY
@echo off
setlocal
set "out=%~1"
set "out=%out:/=\%"
if not exist "%out%" mkdir "%out%"
if errorlevel 1 exit /b 1
for %%t in (x86_64 arm_64) do type nul >"%out%\%%t.so"
exit /b 0
