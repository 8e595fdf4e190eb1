/**
 * IREE programs in a Spring application, free of Spring Boot's conditions.
 *
 * <p>Start at {@link io.github.iree4j.spring.InvocationService}, which an application injects; behind it is
 * {@link io.github.iree4j.spring.Programs}, the programs by name. All types here may be used from any thread.
 */
@NullMarked
package io.github.iree4j.spring;

import org.jspecify.annotations.NullMarked;
