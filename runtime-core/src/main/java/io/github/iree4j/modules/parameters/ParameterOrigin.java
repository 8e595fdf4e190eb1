package io.github.iree4j.modules.parameters;

import io.github.iree4j.api.NotForApplications;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The file location of a stored parameter.
 *
 * @param file the file with the bytes; for an entry of an {@code .irpa} referring to another file, the other file
 * @param offset the offset of the bytes in the file
 * @param type the element type in the archive; null for {@code .irpa}, a format without types
 */
@NotForApplications
public record ParameterOrigin(
        Path file, long offset, @Nullable ParameterType type) {}
