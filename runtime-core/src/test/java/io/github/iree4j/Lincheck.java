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
 * A class that Lincheck looks at, in a JVM of its own. A build does so while it is young: the agent transforms every class that is loaded, which takes
 * seconds as a rule, and minutes for each class of tests where a machine is slow; there the nightly run is left to do it.
 */
@Tag("lincheck")
@ExtendWith(Lincheck.WhileTheBuildIsYoung.class)
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface Lincheck {

    /** Skips what a build has no time for. */
    final class WhileTheBuildIsYoung implements ExecutionCondition {
        private static final Duration YOUNG = Duration.ofMinutes(10);

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
