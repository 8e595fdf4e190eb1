/** The commands on code: text forms, containers of kernels, and the contents of modules. */
@NullMarked
package io.github.iree4j.tools.code;

import org.jspecify.annotations.NullMarked;
