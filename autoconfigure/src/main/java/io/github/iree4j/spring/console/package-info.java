/** The console: a page showing scenarios and the running system, with Spring MVC or WebFlux. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.console;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
