package io.github.iree4j.module;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a class as a module; its {@link Export} methods are the functions. See {@link JavaModule}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface IreeModule {
    /**
     * Returns the name that imports refer to.
     *
     * @return the name, without a dot
     */
    String value();

    /**
     * Returns the version that dependencies of programs are checked against.
     *
     * @return an unsigned number
     */
    int version() default 0;
}
