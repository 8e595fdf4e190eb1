/**
 * Modules written in Java: classes whose annotated methods programs import, and interfaces whose annotated methods call functions of
 * programs.
 *
 * <p>Start at {@link io.github.iree4j.module.JavaModule}. All reflection happens when a module is created; a call goes through one method
 * handle. Functions run on the calling thread.
 */
@NullMarked
package io.github.iree4j.module;

import org.jspecify.annotations.NullMarked;
