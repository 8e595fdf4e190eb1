package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.NativeCode;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for startups that fail because native code is denied or unusable. */
final class NativeAccessFailureAnalyzer extends AbstractFailureAnalyzer<IreeException> {

    /** For Spring. */
    NativeAccessFailureAnalyzer() {}

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, IreeException cause) {
        IreeException noNativeCode = NativeCode.unavailabilityCause().orElse(null);
        if (cause.code() != StatusCode.UNAVAILABLE || noNativeCode == null) {
            return null;
        }
        return new FailureAnalysis(
                "The IREE runtime needs native code, which cannot be used:%n%n    %s"
                        .formatted(noNativeCode.getMessage()),
                action(noNativeCode),
                cause);
    }

    /** Returns the action for making native code usable. */
    static String action(IreeException noNativeCode) {
        return isDenied(noNativeCode)
                ? "Allow native access: start the application with 'java --enable-native-access=ALL-UNNAMED', or put 'Enable-Native-Access: ALL-UNNAMED' into the manifest of the application's jar."
                : "Make the native library usable: "
                        + noNativeCode.getMessage()
                        + ". The artifact 'iree4j-native-shim' contains the native library, and 'iree.native.library-path' can name another library.";
    }

    private static boolean isDenied(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof IllegalCallerException) {
                return true;
            }
        }
        return false;
    }
}
