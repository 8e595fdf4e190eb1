package io.github.iree4j.module;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names a class in the type tables of programs, and so lets programs hold references to instances. A module registers
 * the types taken or returned by the module's functions.
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
