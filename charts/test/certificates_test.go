package chart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGatewayHasHTTPSListenerForEachHost checks what cert-manager needs for a certificate: a listener with a hostname
// that terminates TLS and names a Secret in the namespace of the Gateway.
func TestGatewayHasHTTPSListenerForEachHost(t *testing.T) {
	t.Parallel()
	all := mustRender(t,
		parseSettings(t,
			"frontDoor.hosts={a.example.com,*.b.example.com},frontDoor.pagesURL=https://a.example.com,"+
				"frontDoor.adminHost=admin.example.com,"+
				"frontDoor.tls.secretName=hosts,frontDoor.tls.adminSecretName=admins,frontDoor.gateway.enabled=true,"+
				"frontDoor.gateway.className=any,"+
				"frontDoor.gateway.annotations.cert-manager\\.io/cluster-issuer=letsencrypt"))
	gateway := findObject(t, all, "Gateway", release)
	if issuer := lookUpText(gateway, "metadata", "annotations",
		"cert-manager.io/cluster-issuer"); issuer != "letsencrypt" {
		t.Errorf("the Gateway's issuer is %q", issuer)
	}
	var got []string
	for _, listener := range lookUpList(gateway, "spec", "listeners") {
		if lookUpText(listener, "protocol") != "HTTPS" {
			continue
		}
		secret := lookUpList(listener, "tls", "certificateRefs")[0]
		if lookUpText(listener, "tls", "mode") != "Terminate" || lookUp(secret, "namespace") != nil ||
			lookUpText(listener, "allowedRoutes", "namespaces", "from") != "Same" {
			t.Errorf("the listener %v", listener)
		}
		got = append(got, lookUpText(listener, "name")+" "+lookUpText(listener, "hostname")+" "+lookUpText(secret,
			"name"))
	}
	if diff := cmp.Diff([]string{"https a.example.com hosts", "https-2 *.b.example.com hosts",
		"https-admin admin.example.com admins"}, got); diff != "" {
		t.Errorf("listeners (-want +got):\n%s", diff)
	}
	for route, want := range map[string]string{release: "[https https-2]", release + "-admin": "[https-admin]",
		release + "-to-https": "[http]"} {
		var sections []string
		for _, parent := range lookUpList(findObject(t, all, "HTTPRoute", route), "spec", "parentRefs") {
			sections = append(sections, lookUpText(parent, "sectionName"))
		}
		if fmt.Sprint(sections) != want {
			t.Errorf("%s belongs to the listeners %v, want %s", route, sections, want)
		}
	}
	redirected := lookUpList(findObject(t, all, "HTTPRoute", release+"-to-https"), "spec", "hostnames")
	if fmt.Sprint(redirected) != "[a.example.com *.b.example.com admin.example.com]" {
		t.Errorf("redirected are %v", redirected)
	}
	if owners := readEnvironment(findPodSpec(findObject(t, all, "Deployment",
		release+"-console")))["OWNER_URL"]; owners != "https://admin.example.com" {
		t.Errorf("owners' links begin with %s", owners)
	}
}

// TestAdminIngressHasOwnCertificate checks that two Ingresses name different Secrets. With one Secret, both would own
// one certificate, and cert-manager refuses the second owner.
func TestAdminIngressHasOwnCertificate(t *testing.T) {
	t.Parallel()
	all := mustRender(t,
		parseSettings(t,
			"frontDoor.adminHost=admin.example.com,frontDoor.tls.secretName=hosts,"+
				"frontDoor.tls.adminSecretName=admins,frontDoor.ingress.controller=nginx"))
	for ingress, want := range map[string]string{release: "[book.example.com] hosts",
		release + "-admin": "[admin.example.com] admins"} {
		tls := lookUpList(findObject(t, all, "Ingress", ingress), "spec", "tls")[0]
		if got := fmt.Sprint(lookUpList(tls, "hosts")) + " " + lookUpText(tls, "secretName"); got != want {
			t.Errorf("%s: %s, want %s", ingress, got, want)
		}
	}
}

func TestHTTPRouteOmitsTimeoutsIfDisabled(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]bool{"true": true, "false": false} {
		all := mustRender(t, parseSettings(t,
			"frontDoor.gateway.enabled=true,frontDoor.adminHost=admin.example.com,frontDoor.gateway.timeouts="+setting))
		for _, o := range filterKind(all, "HTTPRoute") {
			for _, rule := range lookUpList(o, "spec", "rules") {
				if got := lookUp(rule, "timeouts") != nil; got != want {
					t.Errorf("timeouts: %s: %s has %v", setting, o.name(), rule)
				}
			}
		}
	}
}

// TestNetworkPolicyAllowsDNS checks the DNS servers that pods may reach: those of the cluster, NodeLocal DNSCache and
// Cloud DNS. The last has the address of Google's metadata server, whose port no pod may reach.
func TestNetworkPolicyAllowsDNS(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "trial"))
	egress := lookUpList(findObject(t, all, "NetworkPolicy", release+"-default-deny"), "spec", "egress")
	if len(egress) != 1 {
		t.Fatalf("every pod reaches %v", egress)
	}
	var places, ports []string
	for _, place := range lookUpList(egress[0], "to") {
		places = append(places, lookUpText(place, "ipBlock", "cidr")+lookUpText(place, "namespaceSelector",
			"matchLabels",
			"kubernetes.io/metadata.name"))
	}
	for _, port := range lookUpList(egress[0], "ports") {
		ports = append(ports, fmt.Sprint(lookUp(port, "port"), "/", lookUp(port, "protocol")))
	}
	slices.Sort(ports)
	if diff := cmp.Diff([]string{"kube-system", "169.254.20.10/32", "169.254.169.254/32"}, places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"53/TCP", "53/UDP", "5353/TCP", "5353/UDP"}, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	own := "networkPolicy.dnsTo[0].podSelector.matchLabels.k8s-app=kube-dns," +
		"networkPolicy.dnsTo[0].namespaceSelector.matchLabels.place=dns"
	egress = lookUpList(findObject(t, mustRender(t, parseSettings(t, own)), "NetworkPolicy", release+"-default-deny"),
		"spec", "egress")
	if to := lookUpList(egress[0], "to"); len(to) != 1 || lookUpText(to[0], "podSelector", "matchLabels",
		"k8s-app") != "kube-dns" {
		t.Errorf("kube-dns alone is named, and pods reach %v", to)
	}
}
