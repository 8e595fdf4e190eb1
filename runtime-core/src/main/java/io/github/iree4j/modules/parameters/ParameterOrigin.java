package io.github.iree4j.modules.parameters;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a stored parameter lies.
 *
 * @param file the file with its bytes; for an entry of an {@code .irpa} that refers to another file, that other file
 * @param offset where they start in it
 * @param type what the archive says about its elements; null for {@code .irpa}, which says nothing
 */
public record ParameterOrigin(
        Path file, long offset, @Nullable ParameterType type) {}
