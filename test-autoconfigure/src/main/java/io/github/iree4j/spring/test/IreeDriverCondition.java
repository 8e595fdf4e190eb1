package io.github.iree4j.spring.test;

import io.github.iree4j.hal.spi.Availability;
import io.github.iree4j.hal.spi.DriverProvider;
import java.util.List;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Condition of {@link EnabledIfIreeDriver}. */
final class IreeDriverCondition implements ExecutionCondition {
    /** For JUnit. */
    IreeDriverCondition() {}

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        return context.getElement()
                .flatMap(element -> AnnotationSupport.findAnnotation(element, EnabledIfIreeDriver.class))
                .map(annotation -> evaluate(annotation.value()))
                .orElseGet(() -> ConditionEvaluationResult.enabled("no driver is required"));
    }

    private static ConditionEvaluationResult evaluate(String name) {
        List<DriverProvider> drivers = DriverProvider.installed();
        for (DriverProvider driver : drivers) {
            if (driver.name().equals(name)) {
                Availability availability = driver.availability();
                return availability.available()
                        ? ConditionEvaluationResult.enabled("driver '%s' is available".formatted(name))
                        : absent(name, String.valueOf(availability.reason()));
            }
        }
        return absent(
                name,
                "not installed; there are "
                        + drivers.stream().map(DriverProvider::name).toList());
    }

    private static ConditionEvaluationResult absent(String name, String reason) {
        if (List.of(System.getProperty("iree.require", "").split(",")).contains(name)) {
            throw new IllegalStateException("driver '%s' is required but not available: %s".formatted(name, reason));
        }
        return ConditionEvaluationResult.disabled("driver '%s' is not available: %s".formatted(name, reason));
    }
}
