package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Objects;

/**
 * The group joined by a channel, and the rank of the channel there.
 *
 * @param id names the group together with {@code group}; opaque bytes as Latin-1 characters, empty for the unnamed
 *     group. An id of {@link Device#createChannelId} names a group that may span processes
 * @param group names the group together with {@code id}
 * @param rank rank of this participant; {@link #DEFAULT} takes the lowest free rank
 * @param count number of participants; {@link #DEFAULT} leaves the count to the device: options of the device may name
 *     the participant, otherwise the group has this participant alone
 */
@NotForApplications
public record ChannelParams(String id, String group, int rank, int count) {
    /** In place of a rank or a count: left to the device. */
    public static final int DEFAULT = -1;

    /** The most participants a group can have. */
    public static final int MAXIMUM_COUNT = 4096;

    private static final int MAXIMUM_NAME = 1024;

    /** Checks the ranges. */
    public ChannelParams {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(group, "group");
        if (id.length() > MAXIMUM_NAME || group.length() > MAXIMUM_NAME) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "channel id of %d and group of %d characters; the limit is %d each"
                            .formatted(id.length(), group.length(), MAXIMUM_NAME));
        }
        if (count != DEFAULT && (count < 1 || count > MAXIMUM_COUNT)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "channel count " + count + " is not within [1, " + MAXIMUM_COUNT + "]");
        }
        int limit = count == DEFAULT ? 1 : count;
        if (rank != DEFAULT && (rank < 0 || rank >= limit)) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT, "channel rank " + rank + " is not within [0, " + (limit - 1) + "]");
        }
    }

    /**
     * Returns these parameters, completed by the device's defaults if the count is left to the device.
     *
     * @param others the defaults
     * @return these parameters if they have a count or the defaults have none, else both combined
     */
    public ChannelParams or(ChannelParams others) {
        return count != DEFAULT || others.count == DEFAULT
                ? this
                : new ChannelParams(
                        id.isEmpty() ? others.id : id,
                        group.isEmpty() ? others.group : group,
                        rank == DEFAULT ? others.rank : rank,
                        others.count);
    }

    /**
     * Returns parameters of a participant of the unnamed group.
     *
     * @param rank rank of the participant, or {@link #DEFAULT}
     * @param count number of participants, or {@link #DEFAULT}
     * @return the parameters
     */
    public static ChannelParams of(int rank, int count) {
        return new ChannelParams("", "", rank, count);
    }

    /**
     * Returns parameters of a participant of a named group.
     *
     * @param id the name
     * @param rank rank of the participant, or {@link #DEFAULT}
     * @param count number of participants, or {@link #DEFAULT}
     * @return the parameters
     */
    public static ChannelParams of(String id, int rank, int count) {
        return new ChannelParams(id, "", rank, count);
    }
}
