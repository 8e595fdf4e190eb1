/**
 * IREE programs in a Spring application, independent of Spring Boot's conditions.
 *
 * <p>Start at {@link io.github.iree4j.spring.InvocationService}, injected by an application and based on
 * {@link io.github.iree4j.spring.Programs}, the programs by name. All types here may be used from any thread.
 */
@NullMarked
package io.github.iree4j.spring;

import org.jspecify.annotations.NullMarked;
