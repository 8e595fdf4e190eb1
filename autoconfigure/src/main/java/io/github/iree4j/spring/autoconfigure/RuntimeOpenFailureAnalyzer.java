package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.stream.Collectors;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Failure analyzer for devices that do not exist or do not work on this machine. */
final class RuntimeOpenFailureAnalyzer extends AbstractFailureAnalyzer<RuntimeOpenException> {

    /** For Spring. */
    RuntimeOpenFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RuntimeOpenException cause) {
        String drivers = DriverProvider.installed().stream()
                .map(RuntimeOpenFailureAnalyzer::describe)
                .collect(Collectors.joining(", "));
        return new FailureAnalysis(
                "%s.".formatted(cause.getMessage()),
                "Set 'iree.devices.<name>.uri' (or 'iree.device', or 'iree.modules.<name>.devices') to a device of one of these drivers: %s."
                        .formatted(drivers),
                cause);
    }

    private static String describe(DriverProvider driver) {
        Availability availability = driver.availability();
        return availability.available()
                ? driver.name()
                : "%s (not available: %s)".formatted(driver.name(), availability.reason());
    }
}
