package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.membership.MembershipOptions;
import io.github.iree4j.cluster.transport.TransportOptions;
import io.github.iree4j.hal.remote.RemoteOptions;
import io.github.iree4j.spring.cluster.autoconfigure.IreeClusterProperties.DiscoveryType;
import io.github.iree4j.status.IreeException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.StringUtils;

/** The options of a node's parts, derived from properties; errors name a wrong property with its permitted values. */
final class ClusterSettings {

    private static final Pattern HOST_AND_PORT = Pattern.compile("\\[?(.+?)]?:([0-9]{1,5})");
    private static final Pattern ORDINAL = Pattern.compile(".*-([0-9]{1,3})");
    private static final List<String> KEY_TYPES = List.of("EC", "RSA", "RSASSA-PSS", "EdDSA", "Ed25519", "Ed448");
    private static final int LAST_PORT = 65535;

    private final IreeClusterProperties properties;
    private final @Nullable SslBundle ssl;
    private final @Nullable RotatingCertificates certificates; // of the bundle, present and later
    private final InetAddress address;

    /** Looks up the SSL bundle, and the address to listen on: once, so that the checked values are the used values. */
    ClusterSettings(IreeClusterProperties properties, Supplier<@Nullable SslBundles> bundles) {
        this.properties = properties;
        String name = properties.ssl().bundle();
        SslBundles known = name == null ? null : bundles.get();
        try {
            this.ssl = name == null || known == null ? null : known.getBundle(name);
        } catch (NoSuchSslBundleException e) {
            throw invalid(
                    "ssl.bundle",
                    name,
                    "No SSL bundle has that name. Define it under 'spring.ssl.bundle', or name another.");
        }
        if (ssl != null && !hasKey(ssl)) {
            throw invalid(
                    "ssl.bundle",
                    name,
                    "The SSL bundle has no key, and nodes show each other a certificate. Add a 'keystore' with the key of this node to the bundle.");
        }
        this.certificates = ssl == null ? null : new RotatingCertificates(ssl);
        if (certificates != null && known != null && name != null) {
            known.addBundleUpdateHandler(name, certificates::replace);
        }
        int port = properties.bind().port();
        if (port < 1 || port > LAST_PORT) {
            throw invalid("bind.port", port, "It must be within [1, %d].".formatted(LAST_PORT));
        }
        this.address = address(properties.bind().address());
    }

    private static boolean hasKey(SslBundle bundle) {
        for (KeyManager each : bundle.getManagers().getKeyManagers()) {
            if (!(each instanceof X509KeyManager keys)) {
                return true; // and cannot be asked
            }
            for (String type : KEY_TYPES) {
                if (keys.getServerAliases(type, null) != null) {
                    return true;
                }
            }
        }
        return false;
    }

    static InvalidConfigurationPropertyValueException invalid(String key, @Nullable Object value, String reason) {
        return new InvalidConfigurationPropertyValueException("iree.cluster." + key, value, reason);
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw invalid("bind.address", text, "It is not an address of this machine.");
        }
    }

    String host() {
        String advertised = properties.advertise();
        if (advertised != null) {
            return advertised;
        }
        if (address.isAnyLocalAddress()) {
            throw invalid(
                    "bind.address",
                    properties.bind().address(),
                    "Other nodes cannot use it. Set 'iree.cluster.advertise' to a host of this machine, or set one address of this machine.");
        }
        return address.getHostAddress();
    }

    TransportOptions transport() {
        IreeClusterProperties.Data data = properties.data();
        if (ssl == null && !properties.insecure() && !address.isLoopbackAddress()) {
            throw invalid(
                    "ssl.bundle",
                    properties.ssl().bundle(),
                    "Other machines reach '%s', and without TLS any of them could run programs here. Name an SSL bundle, or set 'iree.cluster.insecure=true' where the network is closed to others."
                            .formatted(address.getHostAddress()));
        }
        positive("data.connect-timeout", data.connectTimeout());
        if (data.resumeTimeout().isNegative()) {
            throw invalid("data.resume-timeout", data.resumeTimeout(), "It must not be negative.");
        }
        TransportOptions usual = TransportOptions.of(
                InetAddress.getLoopbackAddress(), properties.bind().port());
        return new TransportOptions(
                address,
                properties.bind().port(),
                certificates == null ? null : certificates.tls(),
                properties.insecure(),
                usual.maximumFrameBytes(),
                bytes("data.queue-window", data.queueWindow().toBytes()),
                bytes("data.bulk-window", data.bulkWindow().toBytes()),
                data.separateBulkConnection(),
                data.connectTimeout(),
                usual.keepAlive(),
                usual.keepAliveTimeout(),
                data.resumeTimeout());
    }

    private static int bytes(String key, long bytes) {
        if (bytes < 1 || bytes > 1 << 30) {
            throw invalid(key, bytes, "It must be within [1B, 1GB].");
        }
        return (int) bytes;
    }

    RemoteOptions remote() {
        IreeClusterProperties.Data data = properties.data();
        RemoteOptions usual = RemoteOptions.DEFAULTS;
        try {
            return new RemoteOptions(
                    bytes("data.chunk-size", data.chunkSize().toBytes()),
                    data.commandWindow(),
                    data.memoryLimit().toBytes(),
                    usual.objectLimit(),
                    data.contentLimit().toBytes(),
                    usual.outboxBytes());
        } catch (IreeException e) {
            throw invalid("data", data, StringUtils.capitalize(String.valueOf(e.getMessage())) + ".");
        }
    }

    MembershipOptions membership() {
        IreeClusterProperties.FailureDetection detection = properties.failureDetection();
        positive("failure-detection.timeout", detection.timeout());
        positive("failure-detection.interval", detection.interval());
        if (detection.timeout().compareTo(detection.interval().multipliedBy(3)) < 0) {
            throw invalid(
                    "failure-detection.timeout",
                    detection.timeout(),
                    "It must be at least three times 'iree.cluster.failure-detection.interval', %s."
                            .formatted(detection.interval()));
        }
        return new MembershipOptions(discovery(), detection.timeout(), detection.interval());
    }

    static void positive(String key, Duration time) {
        if (time.toMillis() < 1) {
            throw invalid(key, time, "It must be positive.");
        }
    }

    private MembershipOptions.Discovery discovery() {
        int port = properties.bind().port();
        if (properties.discovery().type() == DiscoveryType.DNS) {
            String query = properties.discovery().query();
            if (query == null) {
                throw invalid("discovery.dns", null, "Set the name whose address records are the nodes.");
            }
            return new MembershipOptions.Discovery.Dns(query, port);
        }
        return new MembershipOptions.Discovery.Static(properties.discovery().hosts().stream()
                .map(each ->
                        address("discovery.static", HOST_AND_PORT.matcher(each).matches() ? each : each + ":" + port))
                .map(each -> InetSocketAddress.createUnresolved(each.getHostString(), each.getPort()))
                .toList());
    }

    /** A host and a port; the host may be unknown yet. */
    InetSocketAddress address(String key, String text) {
        Matcher parts = HOST_AND_PORT.matcher(text);
        int port = parts.matches() ? Integer.parseInt(parts.group(2)) : 0;
        if (port < 1 || port > LAST_PORT) {
            throw invalid(key, text, "It must be host:port, with a port within [1, %d].".formatted(LAST_PORT));
        }
        return new InetSocketAddress(parts.group(1), port);
    }

    /** Returns a time longer than the detection of a dead process. */
    Duration grace() {
        IreeClusterProperties.FailureDetection detection = properties.failureDetection();
        return detection.timeout().plusSeconds(2);
    }

    int machine(@Nullable String hostName) {
        Integer configured = properties.identity().machine();
        if (configured != null) {
            if (configured < 0 || configured > 255) {
                throw invalid("identity.machine", configured, "It must be within [0, 255].");
            }
            return configured;
        }
        Matcher ordinal = ORDINAL.matcher(hostName == null ? "" : hostName);
        if (ordinal.matches() && Integer.parseInt(ordinal.group(1)) <= 255) {
            return Integer.parseInt(ordinal.group(1));
        }
        throw invalid(
                "identity.machine",
                null,
                "Host name '%s' does not end in a number from which to take it. Give each node a different number, 0 to 255."
                        .formatted(hostName));
    }

    /** Returns the cluster's id, derived from the name, for clusters without a shared store. */
    long clusterId() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest(properties.name().getBytes(StandardCharsets.UTF_8));
            return ByteBuffer.wrap(digest).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
