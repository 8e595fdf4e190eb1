package io.github.iree4j.api;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a public type or member, or all types of a package, as made for drivers, tools and the other modules of this project. What is
 * marked may change in any release, and so may members of other types that mention a marked type.
 *
 * <p>The marker of a type includes nested types.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target({ElementType.PACKAGE, ElementType.TYPE, ElementType.METHOD, ElementType.CONSTRUCTOR})
public @interface NotForApplications {}
