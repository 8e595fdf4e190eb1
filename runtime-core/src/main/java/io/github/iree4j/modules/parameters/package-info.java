/**
 * Parameters of programs: the {@code io_parameters} module, and the {@code .irpa}, {@code .gguf} and
 * {@code .safetensors} files behind it.
 *
 * <p>Start at {@link io.github.iree4j.modules.parameters.ParametersModule}. Archives, entries and providers are
 * immutable and may be shared between threads; an archive is mapped once per file, however often opened.
 */
@NullMarked
package io.github.iree4j.modules.parameters;

import org.jspecify.annotations.NullMarked;
