package io.github.iree4j.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/**
 * Auto-configures the runtime of a test, with scripted or real programs. Part of {@link IreeTest}. JUnit runs annotated
 * test classes one after the other: scripts, recorded calls and the clock belong to one test method at a time.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ImportAutoConfiguration
@ResourceLock("io.github.iree4j.spring.test")
@PropertyMapping("iree.test")
public @interface AutoConfigureIree {
    /**
     * The mode of execution.
     *
     * @return the mode; scripted by default
     */
    Mode mode() default Mode.FAKE;

    /**
     * How the clock of {@link Mode#FAKE} advances.
     *
     * @return the mode of the clock; automatic by default
     */
    Clock clock() default Clock.AUTOMATIC;

    /**
     * A flight recording for the test to examine, replayed on the scheduler; {@code FlightRecording}, {@code
     * OperationGraph} and {@code Replay} are beans.
     *
     * @return a resource location: a path of the class path, for example {@code slow.iree4j}, or a location with a
     *     prefix, for example {@code file:recordings/slow.iree4j}; none by default
     */
    String recording() default "";

    /** The mode of execution. */
    enum Mode {
        /** Programs are scripted, on a device with a virtual clock. */
        FAKE,
        /** Programs run on the devices of this machine. */
        NATIVE
    }

    /** How the virtual clock advances. */
    enum Clock {
        /** Automatically, as soon as work is pending: calls take virtual but no real time. */
        AUTOMATIC,
        /** Manually by the test, with {@link FakePrograms#runUntil} and similar methods. */
        STEPPED
    }
}
