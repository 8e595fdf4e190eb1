package io.github.iree4j.module;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Maps a method of an interface to a function of a program.
 *
 * <p>A function of a Java module can take such an interface as a parameter. The parameter is then not an argument of
 * the function, but represents other functions of the call's context. For calls by applications use
 * {@code Program.bind}.
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
     * Returns whether the function belongs to a module linked after the importing module, such as the program calling
     * the Java module. A late function is looked up at the first call, and a mismatch is reported only then. Ignored by
     * {@code Program.bind}.
     *
     * @return true to look up late
     */
    boolean late() default false;
}
