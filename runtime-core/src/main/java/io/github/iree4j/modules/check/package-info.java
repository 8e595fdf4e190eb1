/**
 * The {@code check} module of IREE's end-to-end tests: functions for programs to check their own results.
 *
 * <p>Start at {@link io.github.iree4j.modules.check.CheckModule}. Stateless apart from the listener; safe to share.
 */
@NullMarked
package io.github.iree4j.modules.check;

import org.jspecify.annotations.NullMarked;
