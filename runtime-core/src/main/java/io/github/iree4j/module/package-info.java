/**
 * Modules written in Java: classes whose annotated methods programs import, and interfaces whose annotated methods are functions of
 * programs.
 *
 * <p>Start at {@link io.github.iree4j.module.JavaModule}. All reflection happens when a module is made; a call goes through one method
 * handle. Functions run on the thread of the call that reaches them.
 */
@NullMarked
package io.github.iree4j.module;

import org.jspecify.annotations.NullMarked;
