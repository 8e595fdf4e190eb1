package io.github.iree4j.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test only where a driver works; elsewhere it is skipped, with the reason that the driver gives. A job that has the hardware sets
 * {@code -Diree.require=cuda}, so that a driver that does not work there fails the test instead.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(IreeDriverCondition.class)
public @interface EnabledIfIreeDriver {
    /**
     * The driver.
     *
     * @return such as {@code cuda}
     */
    String value();
}
