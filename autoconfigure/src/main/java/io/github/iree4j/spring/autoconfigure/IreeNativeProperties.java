package io.github.iree4j.spring.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The {@code iree.native.*} properties.
 *
 * @param libraryPath File of the native library, or its directory. The one in the artifact 'iree4j-native-shim' when not
 *     set.
 * @param extractDir Directory that this library is copied to, for one process of the user and the next. The cache of the user when not set.
 */
@ConfigurationProperties("iree.native")
public record IreeNativeProperties(
        @Nullable String libraryPath, @Nullable String extractDir) {}
