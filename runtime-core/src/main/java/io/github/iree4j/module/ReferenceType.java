package io.github.iree4j.module;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names a class in the type tables of programs, so that they can hold references to its objects. A module registers the types that its
 * functions take or return.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface ReferenceType {
    /**
     * Returns the name in programs.
     *
     * @return the name, without the leading {@code !}, for example {@code custom.string}
     */
    String value();
}
