@echo off
rem Builds what a sample needs and starts it, on Windows: demo.cmd [search^|chat] [--port N] [Spring Boot arguments]
rem Builds only when there is no jar yet; demo.cmd [search^|chat] --build builds anew, after a change of the sources.
rem Programs run with portable kernels, as no native code is built on Windows. Stop it with Ctrl-C.
setlocal
cd /d "%~dp0"
set "sample=sample-app"
set "port=8080"
set "build="
if defined SERVER_PORT set "port=%SERVER_PORT%"
rem cmd.exe parts --port=N at the sign. So the sample gets all arguments as they were, and ignores the arguments of this script.
:next
if "%~1"=="" goto parsed
if "%~1"=="search" set "sample=sample-search"
if "%~1"=="chat" set "sample=sample-chat"
if "%~1"=="--build" set "build=only"
if "%~1"=="-h" goto usage
if "%~1"=="--help" goto usage
if "%~1"=="--nodes" goto nodes
if "%~1"=="--port" (
    set "port=%~2"
    shift
)
shift
goto next

:usage
echo usage: demo.cmd [search^|chat] [--port N] [Spring Boot arguments]
echo        demo.cmd [search^|chat] --build
exit /b 0

:nodes
echo iree4j: --nodes is for ./demo on Linux and macOS 1>&2
exit /b 2

:parsed
for /f "delims=0123456789" %%i in ("%port%x") do if not "%%i"=="x" goto wrong
if "%port%"=="" goto wrong
set "built=%sample%\target\iree4j-%sample%.jar"
if not exist "%built%" if not defined build set "build=first"
if not defined build goto start
call bin\find-jdk.cmd javac
if errorlevel 1 exit /b 1
echo iree4j: building (two to four minutes the first time)
call mvnw.cmd -q package -DskipTests -Dlint.checks=-XepDisableAllChecks -pl %sample% -am
if errorlevel 1 exit /b 1
if "%build%"=="only" exit /b 0

:start
call bin\find-jdk.cmd
if errorlevel 1 exit /b 1
rem A copy, as Windows keeps the jar of a running program from being built anew.
if not exist target\demo mkdir target\demo
set "jar=target\demo\iree4j-%port%.jar"
copy /y "%built%" "%jar%" >nul
if errorlevel 1 exit /b 1
echo iree4j: the sample will be at http://localhost:%port%/ (Ctrl-C stops it)
"%JAVA_HOME%\bin\java.exe" -jar "%jar%" --server.port=%port% %*
exit /b %errorlevel%

:wrong
echo iree4j: --port wants a number, got '%port%' 1>&2
exit /b 2
