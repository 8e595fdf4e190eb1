package io.github.iree4j.modules.parameters;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The file location of a stored parameter.
 *
 * @param file the file with its bytes; for an entry of an {@code .irpa} that refers to another file, that other file
 * @param offset the offset of the bytes in it
 * @param type the element type in the archive; null for {@code .irpa}, which has none
 */
public record ParameterOrigin(
        Path file, long offset, @Nullable ParameterType type) {}
