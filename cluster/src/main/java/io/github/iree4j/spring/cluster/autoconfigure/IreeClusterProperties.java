package io.github.iree4j.spring.cluster.autoconfigure;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.util.unit.DataSize;

/**
 * A node of a cluster.
 *
 * @param enabled Whether this process is a node of a cluster. Without it no socket is opened.
 * @param name Name of the cluster, the same on all nodes.
 * @param advertise Host name or address used by other nodes. The bind address when unset.
 * @param insecure Whether plain text is allowed where other machines reach this machine.
 * @param onFence Action when this node must not use its identity any more.
 * @param serve Names of the devices for use by other nodes. All devices when empty.
 * @param bind Address and port of this node.
 * @param discovery Discovery of the other nodes.
 * @param identity Machine index and session of this node.
 * @param failureDetection When the connections with other nodes are doubted.
 * @param ssl Mutual TLS.
 * @param data Sessions with other nodes.
 */
@ConfigurationProperties("iree.cluster")
public record IreeClusterProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("iree4j") String name,
        @Nullable String advertise,
        @DefaultValue("false") boolean insecure,
        @DefaultValue("restart") OnFence onFence,
        @DefaultValue List<String> serve,
        @DefaultValue Bind bind,
        @DefaultValue Discovery discovery,
        @DefaultValue Identity identity,
        @DefaultValue FailureDetection failureDetection,
        @DefaultValue Ssl ssl,
        @DefaultValue Data data) {

    /** An empty host is none. */
    public IreeClusterProperties {
        advertise = present(advertise);
    }

    private static @Nullable String present(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }

    /** The action when this node is fenced. */
    public enum OnFence {
        /**
         * Close the application, and start the application again with a new session in the same process. The same as
         * {@link #SHUTDOWN} where no {@link org.springframework.boot.SpringApplication} runs the application.
         */
        RESTART,
        /** Close the application, so the supervisor of the process starts the application again with a new session. */
        SHUTDOWN,
        /** Refuse traffic and keep the application open. */
        REFUSE_TRAFFIC
    }

    /** Ways to find other nodes. */
    public enum DiscoveryType {
        /** A list of hosts. */
        STATIC,
        /** A name in DNS. */
        DNS
    }

    /** Where sessions are counted. */
    public enum IdentityType {
        /** In a file of each node, with a configured machine index. */
        STATIC,
        /** In a database shared by the nodes. */
        JDBC,
        /** In leases of Kubernetes. */
        KUBERNETES
    }

    /**
     * Address and port of this node.
     *
     * @param address Address to listen on. An address of this machine, or 0.0.0.0 for all addresses together with iree.cluster.advertise.
     * @param port Port of this node.
     */
    public record Bind(
            @DefaultValue("127.0.0.1") String address,
            @DefaultValue("7600") int port) {}

    /**
     * Discovery of the other nodes.
     *
     * @param type Way to find the other nodes.
     * @param hosts Hosts and ports of some or all nodes, as host:port.
     * @param query Name with the nodes as address records. All nodes use the same port.
     */
    public record Discovery(
            @DefaultValue("static") DiscoveryType type,
            @Name("static") @DefaultValue List<String> hosts,
            @Name("dns") @Nullable String query) {
        /** An empty name is none. */
        public Discovery {
            query = present(query);
        }
    }

    /**
     * Machine index and session of this node.
     *
     * @param type Where sessions are counted.
     * @param machine Machine index of this node, 0 to 255, when sessions are counted in files. The number at the end of the host name when unset.
     * @param file File counting the sessions of this machine index. The file must outlive the process, and only this
     *     node may use the file.
     * @param machines Number of machine indices, 1 to 256, when sessions are not counted in files.
     * @param createTables Whether to create the tables in the database unless they exist.
     * @param leaseDuration Time after which another node may use the machine index of a silent node.
     * @param kubernetes The API of Kubernetes, when sessions are counted in Kubernetes leases.
     */
    public record Identity(
            @DefaultValue("static") IdentityType type,
            @Nullable Integer machine,
            @Nullable String file,
            @DefaultValue("256") int machines,
            @DefaultValue("true") boolean createTables,
            @DefaultValue("60s") Duration leaseDuration,
            @DefaultValue Kubernetes kubernetes) {
        /** An empty path is none. */
        public Identity {
            file = present(file);
        }
    }

    /**
     * The API of Kubernetes.
     *
     * @param server Address of the API server, such as https://10.0.0.1:443. The address provided to the pod when
     *     unset.
     * @param namespace Namespace of the leases. The namespace of the pod when unset.
     * @param token File with the token to send. The token of the pod's service account when no server is set either.
     * @param authorities File with the certificates of possible issuers of the server's certificate, as PEM. The file
     *     of the pod when no server is set either.
     */
    public record Kubernetes(
            @Nullable String server,
            @Nullable String namespace,
            @Nullable String token,
            @Nullable String authorities) {}

    /**
     * When the connections with other nodes are doubted.
     *
     * @param timeout Time of silence before a node leaves the view, at least three intervals.
     * @param interval Time between two signs of life.
     */
    public record FailureDetection(
            @DefaultValue("3s") Duration timeout,
            @DefaultValue("500ms") Duration interval) {}

    /**
     * Mutual TLS.
     *
     * @param bundle Name of the SSL bundle with the key of this node and the trusted authorities.
     */
    public record Ssl(@Nullable String bundle) {
        /** An empty name is none. */
        public Ssl {
            bundle = present(bundle);
        }
    }

    /**
     * Sessions with other nodes.
     *
     * @param chunkSize Size of the transferred pieces of buffers, 1KB to 1MB.
     * @param commandWindow Maximum number of operations of a peer in progress, 1 to 65536.
     * @param memoryLimit Maximum memory allocated by a peer on each device.
     * @param contentLimit Maximum size of kept code, constants and parameters of other nodes. Kept contents are sent
     *     only once.
     * @param queueWindow Maximum amount of small frames waiting for writing.
     * @param bulkWindow Maximum amount of pieces of buffers waiting for writing.
     * @param separateBulkConnection Whether buffers are sent on a separate connection, to delay operations less.
     * @param connectTimeout Maximum time for establishing a connection.
     * @param resumeTimeout Time for an interrupted connection to continue before the other node counts as lost. Zero for
     *     no time.
     */
    public record Data(
            @DefaultValue("256KB") DataSize chunkSize,
            @DefaultValue("1024") int commandWindow,
            @DefaultValue("1TB") DataSize memoryLimit,
            @DefaultValue("256MB") DataSize contentLimit,
            @DefaultValue("256KB") DataSize queueWindow,
            @DefaultValue("1MB") DataSize bulkWindow,
            @DefaultValue("false") boolean separateBulkConnection,
            @DefaultValue("5s") Duration connectTimeout,
            @DefaultValue("30s") Duration resumeTimeout) {}
}
