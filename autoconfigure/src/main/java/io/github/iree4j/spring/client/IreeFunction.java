package io.github.iree4j.spring.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What a method of an {@link IreeClient} calls, and how, where its name does not say all. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface IreeFunction {
    /**
     * The function.
     *
     * @return its name in the program; empty for the name of the method
     */
    String value() default "";

    /**
     * How long a call may take.
     *
     * @return such as {@code 50ms}; empty for as long as it takes
     */
    String deadline() default "";

    /**
     * Which calls of the program go first.
     *
     * @return higher first
     */
    int priority() default 0;
}
