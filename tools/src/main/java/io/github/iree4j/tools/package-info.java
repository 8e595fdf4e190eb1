/**
 * The command line. Start at {@link io.github.iree4j.tools.Iree4jCommand}. Commands on code are in {@code tools.code},
 * commands of the laboratory in {@code tools.lab}.
 */
@NullMarked
package io.github.iree4j.tools;

import org.jspecify.annotations.NullMarked;
