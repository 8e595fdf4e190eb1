package io.github.iree4j;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A class checked by Lincheck, in a separate JVM. A build runs the check within its time limit: the agent transforms
 * every loaded class, which usually takes seconds, but minutes per test class on a slow machine; there only the nightly
 * run checks.
 */
@Tag("lincheck")
@ExtendWith(Lincheck.WhileTheBuildIsYoung.class)
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface Lincheck {

    /** Skips tests without time in a build. */
    final class WhileTheBuildIsYoung implements ExecutionCondition {
        private static final Duration YOUNG = Duration.ofMinutes(8);

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            String started = System.getProperty("iree4j.build.started");
            if (!Effort.isBrief() || started == null) {
                return ConditionEvaluationResult.enabled("not in a build");
            }
            Duration age = Duration.between(Instant.parse(started), Instant.now());
            return age.compareTo(YOUNG) < 0
                    ? ConditionEvaluationResult.enabled("the build is young")
                    : ConditionEvaluationResult.disabled(
                            "this build is older than %d minutes by now; bin/nightly runs it"
                                    .formatted(YOUNG.toMinutes()));
        }
    }
}
