package io.github.iree4j.module;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a method, static or not and of any visibility, as a function of its {@link IreeModule}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Export {
    /**
     * Returns the name within the module. Several methods may share a name if the methods' calling conventions differ.
     *
     * @return the name, possibly with dots, as in {@code string.create}; empty for the method's own name
     */
    String value() default "";
}
