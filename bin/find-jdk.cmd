@rem Sets JAVA_HOME to a Java 25: call bin\find-jdk.cmd [javac], with javac to one that has a compiler.
@rem Errorlevel 1, with the remedy, when there is none. Looks at JAVA25_HOME, JAVA_HOME, the path, and the folders of installers.
@echo off
set "iree4j_found="
if defined JAVA25_HOME call :folder "%JAVA25_HOME%" %1
if defined JAVA_HOME_25_X64 call :folder "%JAVA_HOME_25_X64%" %1
if defined JAVA_HOME call :folder "%JAVA_HOME%" %1
for %%p in (java.exe) do if not "%%~$PATH:p"=="" call :folder "%%~dp$PATH:p.." %1
call :inside "%ProgramFiles%\Java" %1
call :inside "%ProgramFiles%\Eclipse Adoptium" %1
call :inside "%ProgramFiles%\Microsoft" %1
call :inside "%ProgramFiles%\Zulu" %1
call :inside "%ProgramFiles%\Amazon Corretto" %1
call :inside "%ProgramFiles%\BellSoft" %1
call :inside "%LOCALAPPDATA%\Programs\Eclipse Adoptium" %1
call :inside "%USERPROFILE%\.jdks" %1
call :inside "%USERPROFILE%\.m2\jdks" %1
call :inside "%USERPROFILE%\.gradle\jdks" %1
if defined iree4j_found goto found
set "iree4j_needed=Java 25"
if "%1"=="javac" set "iree4j_needed=JDK 25"
echo iree4j: there is no %iree4j_needed% on this machine; install one (for example Eclipse Temurin 25 from https://adoptium.net) or point JAVA25_HOME at it; it need not be the default 1>&2
exit /b 1

:found
set "JAVA_HOME=%iree4j_found%"
set "iree4j_found="
exit /b 0

:inside
for /d %%h in ("%~1\*") do call :folder "%%h" %2
exit /b

:folder
if defined iree4j_found exit /b
if not exist "%~1\bin\java.exe" exit /b
if not exist "%~1\release" exit /b
if "%2"=="javac" if not exist "%~1\bin\javac.exe" exit /b
set "iree4j_version="
rem Not the line of modules, which is longer than some cmd.exe takes.
for /f "usebackq eol=M tokens=1,2 delims==" %%a in ("%~1\release") do if "%%a"=="JAVA_VERSION" set "iree4j_version=%%~b"
if "%iree4j_version:~0,2%"=="25" set "iree4j_found=%~1"
exit /b
