package io.github.iree4j.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/** Gives a test the runtime of an application: with scripted programs, or with the real ones. Part of {@link IreeTest}. */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ImportAutoConfiguration
@PropertyMapping("iree.test")
public @interface AutoConfigureIree {
    /**
     * What runs programs.
     *
     * @return scripts, unless said otherwise
     */
    Mode mode() default Mode.FAKE;

    /**
     * Who moves the clock of {@link Mode#FAKE}.
     *
     * @return the clock itself, unless said otherwise
     */
    Clock clock() default Clock.AUTOMATIC;

    /** What runs programs. */
    enum Mode {
        /** Scripts, on a device with a virtual clock. */
        FAKE,
        /** The devices of this machine. */
        NATIVE
    }

    /** Who moves the clock. */
    enum Clock {
        /** It goes on by itself as soon as there is something to do: calls take virtual time and no real one. */
        AUTOMATIC,
        /** The test, by {@code VirtualClock.runUntil} and its like: nothing happens before. */
        STEPPED
    }
}
