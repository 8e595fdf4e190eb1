package io.github.iree4j.spring.autoconfigure;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The {@code iree.native.*} properties.
 *
 * @param libraryPath File of the native library, or its directory. The library of the artifact 'iree4j-native-shim'
 *     when not set.
 * @param extractDir Directory for a copy of that library, shared by successive processes of the user. The cache of the
 *     user when not set.
 */
@ConfigurationProperties("iree.native")
@NotForApplications
public record IreeNativeProperties(
        @Nullable String libraryPath, @Nullable String extractDir) {}
