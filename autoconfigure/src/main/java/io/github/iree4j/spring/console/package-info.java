/** The console: a page showing scenarios and the running system, with Spring MVC or WebFlux. */
@NullMarked
package io.github.iree4j.spring.console;

import org.jspecify.annotations.NullMarked;
