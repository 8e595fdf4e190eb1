package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.identity.FileIdentityStore;
import io.github.iree4j.cluster.identity.IdentityStore;
import io.github.iree4j.cluster.identity.JdbcIdentityStore;
import io.github.iree4j.cluster.identity.KubernetesIdentityStore;
import io.github.iree4j.cluster.identity.KubernetesOptions;
import io.github.iree4j.spring.cluster.autoconfigure.IreeClusterProperties.IdentityType;
import io.github.iree4j.status.IreeException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Creates the store of identities selected by the properties. */
final class IdentityStores {
    private static final Logger log = LoggerFactory.getLogger(IdentityStores.class);
    private static final String JACKSON = "tools.jackson.databind.json.JsonMapper";

    private final IreeClusterProperties properties;
    private final IreeClusterProperties.Identity identity;
    private final ClusterSettings settings;
    private final Environment environment;

    IdentityStores(IreeClusterProperties properties, ClusterSettings settings, Environment environment) {
        this.properties = properties;
        this.identity = properties.identity();
        this.settings = settings;
        this.environment = environment;
    }

    /**
     * Creates the store.
     *
     * @param database the application's database, if any
     */
    IdentityStore make(Supplier<@Nullable DataSource> database) {
        if (identity.type() != IdentityType.STATIC) {
            warn("machine", identity.machine());
            warn("file", identity.file());
        }
        return switch (identity.type()) {
            case STATIC -> files();
            case JDBC -> database(database.get());
            case KUBERNETES -> kubernetes();
        };
    }

    private void warn(String key, @Nullable Object value) {
        if (value != null) {
            log.warn(
                    "'iree.cluster.identity.{}={}' has no effect: with 'iree.cluster.identity.type={}', machine indices and sessions are granted there; remove it",
                    key,
                    value,
                    identity.type().name().toLowerCase(Locale.ROOT));
        }
    }

    private IdentityStore files() {
        if (identity.file() == null) {
            throw ClusterSettings.invalid(
                    "identity.file", null, "Set a file of this node on a disk that outlives the process.");
        }
        return new FileIdentityStore(Path.of(identity.file()), settings.clusterId(), settings.machine(hostName()));
    }

    private @Nullable String hostName() {
        return environment.getProperty("HOSTNAME");
    }

    private int machines() {
        if (identity.machines() < 1 || identity.machines() > 256) {
            throw ClusterSettings.invalid("identity.machines", identity.machines(), "It must be within [1, 256].");
        }
        return identity.machines();
    }

    private IdentityStore database(@Nullable DataSource database) {
        if (database == null) {
            throw ClusterSettings.invalid(
                    "identity.type", identity.type(), "There is no DataSource, or more than one primary one.");
        }
        JdbcIdentityStore store = new JdbcIdentityStore(database, properties.name(), machines());
        if (identity.createTables()) {
            store.createTables();
        }
        return store;
    }

    private IdentityStore kubernetes() {
        if (!ClassUtils.isPresent(JACKSON, null)) {
            throw ClusterSettings.invalid(
                    "identity.type",
                    identity.type(),
                    "The API of Kubernetes needs Jackson: add 'org.springframework.boot:spring-boot-starter-jackson' to the dependencies.");
        }
        String host = hostName();
        try {
            return new KubernetesIdentityStore(
                    options(), properties.name(), machines(), host == null ? "iree4j" : host);
        } catch (IreeException e) {
            throw ClusterSettings.invalid(
                    "identity.type", identity.type(), StringUtils.capitalize(String.valueOf(e.getMessage())) + ".");
        }
    }

    private KubernetesOptions options() {
        IreeClusterProperties.Kubernetes configured = identity.kubernetes();
        if (configured.server() == null) {
            return overridden(KubernetesOptions.ofPod(System.getenv()), configured);
        }
        if (configured.namespace() == null) {
            throw ClusterSettings.invalid(
                    "identity.kubernetes.namespace", null, "Name the namespace of the leases on the server.");
        }
        try {
            URI server = URI.create(configured.server());
            return overridden(KubernetesOptions.of(server, configured.namespace()), configured);
        } catch (IllegalArgumentException e) {
            throw ClusterSettings.invalid("identity.kubernetes.server", configured.server(), "It is not an address.");
        }
    }

    private static KubernetesOptions overridden(
            KubernetesOptions options, IreeClusterProperties.Kubernetes configured) {
        return new KubernetesOptions(
                options.server(),
                configured.namespace() == null ? options.namespace() : configured.namespace(),
                configured.token() == null ? options.token() : Path.of(configured.token()),
                configured.authorities() == null ? options.authorities() : Path.of(configured.authorities()),
                options.timeout());
    }
}
