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
 * @param advertise Host name or address that other nodes use. The bind address when unset.
 * @param insecure Whether plain text is allowed where other machines reach this one.
 * @param onFence What happens when this node must not use its identity any more.
 * @param serve Names of the devices that other nodes may use. All when empty.
 * @param bind Where this node listens.
 * @param discovery How this node finds the others.
 * @param identity Which machine index and session this node has.
 * @param failureDetection When other nodes count as lost.
 * @param ssl Mutual TLS.
 * @param data Sessions with other nodes.
 */
@ConfigurationProperties("iree.cluster")
public record IreeClusterProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("iree4j") String name,
        @Nullable String advertise,
        @DefaultValue("false") boolean insecure,
        @DefaultValue("shutdown") OnFence onFence,
        @DefaultValue List<String> serve,
        @DefaultValue Bind bind,
        @DefaultValue Discovery discovery,
        @DefaultValue Identity identity,
        @DefaultValue FailureDetection failureDetection,
        @DefaultValue Ssl ssl,
        @DefaultValue Data data) {

    /** What to do when this node is fenced. */
    public enum OnFence {
        /** Close the application, so that whatever supervises the process starts it again with a new session. */
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
        /** In a file of each node, whose machine index is configured. */
        STATIC,
        /** In a database that the nodes share. */
        JDBC,
        /** In leases of Kubernetes. */
        KUBERNETES,
        /** In a log that three or more nodes keep together, by Apache Ratis. */
        RATIS
    }

    /**
     * Where this node listens.
     *
     * @param address Address to listen on. One address of this machine, not all of them.
     * @param port First of three consecutive ports: data, membership, failure detection.
     */
    public record Bind(
            @DefaultValue("127.0.0.1") String address,
            @DefaultValue("7600") int port) {}

    /**
     * How this node finds the others.
     *
     * @param type Way to find them.
     * @param hosts Hosts and first ports of some or all nodes, as host:port.
     * @param query Name whose address records are the nodes. All of them use the same ports.
     */
    public record Discovery(
            @DefaultValue("static") DiscoveryType type,
            @Name("static") @DefaultValue List<String> hosts,
            @Name("dns") @Nullable String query) {}

    /**
     * Which machine index and session this node has.
     *
     * @param type Where sessions are counted.
     * @param machine Machine index of this node, 0 to 255, when they are counted in files or in a log of the nodes. The number at the end of the host name when unset.
     * @param file File that counts the sessions of this machine index. It must outlive the process, and only this node may use it.
     * @param machines Number of machine indices, 1 to 256, when sessions are not counted in files.
     * @param createTables Whether to create the tables in the database unless they exist.
     * @param leaseDuration Time after which another node may use the machine index of one that is silent.
     * @param kubernetes The API of Kubernetes, when sessions are counted in leases of it.
     * @param ratis The log, when the nodes keep one.
     */
    public record Identity(
            @DefaultValue("static") IdentityType type,
            @Nullable Integer machine,
            @Nullable String file,
            @DefaultValue("256") int machines,
            @DefaultValue("true") boolean createTables,
            @DefaultValue("15s") Duration leaseDuration,
            @DefaultValue Kubernetes kubernetes,
            @DefaultValue Ratis ratis) {}

    /**
     * The log of sessions that nodes keep together.
     *
     * @param peers Hosts and ports of three or more nodes, as host:port: the same list on all nodes, in the order of their machine indices.
     * @param directory Directory of the log of this node, which the property for the machine index finds in the list. It must outlive the process.
     * @param patience Time to wait at the start for more than half of the nodes.
     */
    public record Ratis(
            @DefaultValue List<String> peers,
            @Nullable String directory,
            @DefaultValue("60s") Duration patience) {}

    /**
     * The API of Kubernetes.
     *
     * @param server Address of the API server, such as https://10.0.0.1:443. What the pod is told when unset.
     * @param namespace Namespace of the leases. That of the pod when unset.
     * @param token File with the token to send. That of the pod's service account when no server is set either.
     * @param authorities File with the certificates of those that may have issued the server's, as PEM. That of the pod when no server is set either.
     */
    public record Kubernetes(
            @Nullable String server,
            @Nullable String namespace,
            @Nullable String token,
            @Nullable String authorities) {}

    /**
     * When other nodes count as lost.
     *
     * @param timeout Time that a node may be silent before it is suspected.
     * @param interval Time between two signs of life.
     * @param verify Time that a suspected node has to answer.
     */
    public record FailureDetection(
            @DefaultValue("3s") Duration timeout,
            @DefaultValue("500ms") Duration interval,
            @DefaultValue("500ms") Duration verify) {}

    /**
     * Mutual TLS.
     *
     * @param bundle Name of the SSL bundle with the key of this node and the authorities that it trusts.
     */
    public record Ssl(@Nullable String bundle) {
        /** An empty name is none. */
        public Ssl {
            bundle = bundle == null || bundle.isBlank() ? null : bundle;
        }
    }

    /**
     * Sessions with other nodes.
     *
     * @param chunkSize Size of the pieces in which buffers travel, 1KB to 1MB.
     * @param commandWindow Number of operations that one peer may have in progress, 1 to 65536.
     * @param memoryLimit Memory that one peer may allocate on each device.
     * @param contentLimit Code, constants and parameters of other nodes that are kept, so that they come once.
     * @param queueWindow Amount of small frames that may wait to be written.
     * @param bulkWindow Amount of pieces of buffers that may wait to be written.
     * @param separateBulkConnection Whether buffers travel on a connection of their own, so that they delay operations less.
     * @param connectTimeout Time that establishing a connection may take.
     */
    public record Data(
            @DefaultValue("256KB") DataSize chunkSize,
            @DefaultValue("1024") int commandWindow,
            @DefaultValue("1TB") DataSize memoryLimit,
            @DefaultValue("256MB") DataSize contentLimit,
            @DefaultValue("256KB") DataSize queueWindow,
            @DefaultValue("1MB") DataSize bulkWindow,
            @DefaultValue("false") boolean separateBulkConnection,
            @DefaultValue("5s") Duration connectTimeout) {}
}
