package io.github.iree4j.cluster.identity;

import io.github.iree4j.status.FailureDetail;

/**
 * Another live node counts sessions in the same file.
 *
 * @param file the file
 * @param holder the holder of the file, such as {@code process 4711 on vision-0}
 */
public record IdentityInUse(String file, String holder) implements FailureDetail {}
