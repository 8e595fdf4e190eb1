@rem Takes the digits program's kernels for Vulkan that lie in spirv beside this, and which compile-shaders made.
@rem usage: compile-shaders OUTPUT_DIRECTORY
@echo off
setlocal
set "out=%~1"
set "out=%out:/=\%"
if not exist "%out%" mkdir "%out%"
if errorlevel 1 exit /b 1
copy /y "%~dp0spirv\*.spv" "%out%" >nul
if errorlevel 1 exit /b 1
exit /b 0
