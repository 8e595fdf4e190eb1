package io.github.iree4j.spring.autoconfigure.console;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Hints for the files of the console. */
final class IreeConsoleRuntimeHints implements RuntimeHintsRegistrar {

    /** For Spring. */
    IreeConsoleRuntimeHints() {}

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerPattern("META-INF/iree-console/**");
    }
}
