package io.github.iree4j.spring.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Configures the function called by a method of an {@link IreeClient}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface IreeFunction {
    /**
     * The function.
     *
     * @return the function's name in the program, which may contain placeholders; empty for the name of the method
     */
    String value() default "";

    /**
     * The timeout of a call.
     *
     * @return the duration, such as {@code 50ms}, or a placeholder such as {@code ${my.timeout:50ms}}; empty for no
     *     timeout
     */
    String timeout() default "";

    /**
     * The priority among calls of the program.
     *
     * @return higher first
     */
    int priority() default 0;
}
