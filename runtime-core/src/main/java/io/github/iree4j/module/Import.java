package io.github.iree4j.module;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says which function of a program a method of an interface is.
 *
 * <p>A function of a Java module takes such an interface as a parameter, which is then no argument of the function: it stands for other
 * functions of the context that the call is in. For calls from outside there is {@code Program.bind}.
 *
 * <p>An import on a {@code default} method is optional: where the function is absent, the method's own body runs.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Import {
    /**
     * Returns the function.
     *
     * @return {@code module.function}
     */
    String value();

    /**
     * Returns whether the function belongs to a module that is linked after the one that imports it, such as the program that calls the
     * Java module: it is looked up at the first call, and a mismatch shows only then. Ignored by calls from outside.
     *
     * @return true to look up late
     */
    boolean late() default false;
}
