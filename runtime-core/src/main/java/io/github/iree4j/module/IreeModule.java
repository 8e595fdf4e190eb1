package io.github.iree4j.module;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a class as a module; the class's {@link Export} methods are the functions. See {@link JavaModule}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface IreeModule {
    /**
     * Returns the name used by imports.
     *
     * @return the name, without a dot
     */
    String value();

    /**
     * Returns the version checked against the dependencies of programs.
     *
     * @return an unsigned number
     */
    int version() default 0;
}
