package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.io.FileNotFoundException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Analyzes modules that cannot be loaded: not found, compiled for another version or another kind of device, without
 * their parameters, or stopped by native code that cannot be used.
 */
final class ProgramLoadFailureAnalyzer extends AbstractFailureAnalyzer<ProgramLoadException> {

    private static final Pattern MISSING_SCOPE = Pattern.compile("no parameters were given for scope '([^']*)'");

    /** For Spring. */
    ProgramLoadFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ProgramLoadException cause) {
        ProgramSource source = cause.source();
        String description = "Module '%s' could not be loaded from '%s':%n%n    %s"
                .formatted(
                        source.name(),
                        source.location(),
                        cause.getCause() instanceof FileNotFoundException
                                ? cause.getCause().getMessage()
                                : cause.getCause());
        return new FailureAnalysis(description, action(source, cause.getCause()), cause);
    }

    private static String action(ProgramSource source, Throwable cause) {
        String module = "iree.modules." + source.name();
        if (cause instanceof FileNotFoundException) {
            return "Correct '%s.location', or '%s.parameters'. A location without a scheme is a file, here relative to '%s'; what is packed into the application needs 'classpath:'."
                    .formatted(module, module, Path.of("").toAbsolutePath());
        }
        if (!(cause instanceof IreeException failure)) {
            return "Make sure that the application may read the file.";
        }
        Matcher scope = MISSING_SCOPE.matcher(failure.getMessage());
        if (scope.find()) {
            return "Set '%s.parameters.%s' to the location of the archive (.irpa) that holds these parameters."
                    .formatted(module, scope.group(1).isEmpty() ? ProgramSource.DEFAULT_SCOPE : scope.group(1));
        }
        IreeException noNativeCode = IreeRuntime.nativeUnavailabilityCause();
        return switch (kind(failure)) {
            case VERSION ->
                "Compile the program again, with a release of iree-compile that produces the version that this runtime reads; 'iree-compile --version' shows the release.";
            case FORMAT ->
                noNativeCode == null ? """
                        Compile the program for this machine:
                            iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu \\
                                --iree-llvmcpu-target-triple=%s-unknown-linux-gnu --iree-llvmcpu-target-cpu=generic
                        or, much slower, for any machine, with --iree-hal-local-target-device-backends=vmvx.""".formatted(architecture()) : NativeAccessFailureAnalyzer.action(noNativeCode);
            case OTHER -> "Look into the file with 'bin/iree4j dump', and try it with 'bin/iree4j run --module=…'.";
        };
    }

    private enum Kind {
        VERSION,
        FORMAT,
        OTHER
    }

    /**
     * By the words of the runtime, or of the program itself, which refuses devices on its own: iree-compile makes it fail with "HAL
     * device … not found or unavailable".
     */
    private static Kind kind(IreeException failure) {
        String message = failure.getMessage();
        if (message.contains("of format '") || message.contains("HAL device")) {
            return Kind.FORMAT;
        }
        return failure.code() == StatusCode.INCOMPATIBLE && message.contains("bytecode") ? Kind.VERSION : Kind.OTHER;
    }

    private static String architecture() {
        String name = System.getProperty("os.arch", "");
        return name.equals("amd64") ? "x86_64" : name;
    }
}
