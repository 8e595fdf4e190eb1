package io.github.iree4j.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test only where a driver is available; elsewhere the test is skipped with the driver's reason. A CI job with
 * the hardware sets {@code -Diree.require=cuda} to fail the test instead.
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
     * @return the name, such as {@code cuda}
     */
    String value();
}
