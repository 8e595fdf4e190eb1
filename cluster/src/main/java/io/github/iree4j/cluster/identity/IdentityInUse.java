package io.github.iree4j.cluster.identity;

import io.github.iree4j.status.FailureDetail;

/**
 * Another node that is alive counts its sessions in the same file.
 *
 * @param file the file
 * @param holder who has it, such as {@code process 4711 on vision-0}
 */
public record IdentityInUse(String file, String holder) implements FailureDetail {}
