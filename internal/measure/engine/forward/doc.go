// Package forward lets packets pass between the containers of a bridge of a
// run's own, and says who stops them on a bridge that is somebody else's.
//
// Where the kernel hands bridged packets to the packet filter (br_netfilter,
// which Docker and Kubernetes switch on), two containers on one bridge reach
// each other only if the filter's FORWARD lets them; and dockerd sets its
// policy to DROP where it has switched forwarding on itself.
//
// It is opinionated. A rule of ours names one bridge of ours as the way in and
// the way out and bears the run's id; it stands in the very chain that drops,
// since no other chain's verdict overrides a DROP; and where nothing can drop,
// no rule is made. Policies and rules of others are never changed. Addresses of
// containers are IPv4 (engine.Place), and so are the rules.
//
// Why it is so: docs/decisions/networks.md.
package forward
