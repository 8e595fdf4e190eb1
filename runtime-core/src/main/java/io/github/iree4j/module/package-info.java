/**
 * Modules written in Java: classes with annotated methods for programs to import, and interfaces with annotated methods
 * to call functions of programs.
 *
 * <p>Start at {@link io.github.iree4j.module.JavaModule}. All reflection happens when a module is created; a call goes
 * through a single method handle. Functions run on the calling thread.
 */
@NullMarked
package io.github.iree4j.module;

import org.jspecify.annotations.NullMarked;
